"""What runs inside a worker process: engines behind one short protocol, hardened before they touch any data.

Nothing here imports the rest of Answerable but `isolation`, so that a worker starts quickly and holds little.
"""
