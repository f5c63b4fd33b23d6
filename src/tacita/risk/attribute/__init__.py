"""What is learned of those whose group is found: disclosure of sensitive values."""
