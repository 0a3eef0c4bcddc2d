"""One file per method, each with a `METHOD`. Every file in this folder is a method; nothing else needs to change."""
