"""Steps that change sampling weights."""
