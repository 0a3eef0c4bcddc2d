"""One file per method; each has a `METHOD`. A file that is put here is a method; nothing else has to be changed."""
