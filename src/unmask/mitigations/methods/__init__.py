"""One file a method; each has a `METHOD`. A file that is put here is a method, and nothing else need know of it."""
