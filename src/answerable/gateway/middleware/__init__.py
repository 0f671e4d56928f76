"""What surrounds every request. `stack.py` puts the parts in order, from outside in; each part is a file."""
