"""One module per kind of file: bytes in, a table and what is known of its variables out, and back."""
