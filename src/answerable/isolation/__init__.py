"""What worker processes are confined with, and how they talk to their parent. Shared by sources and sandboxes.

Nothing here imports the rest of Answerable, so that a worker starts quickly and holds little.
"""
