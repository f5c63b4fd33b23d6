"""What a released file gives away by itself."""
