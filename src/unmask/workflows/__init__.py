"""What commands do, callable from Python."""
