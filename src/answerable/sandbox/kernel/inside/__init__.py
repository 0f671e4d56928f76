"""What runs inside the `kernel` sandbox. It imports nothing of Answerable but `isolation` and the runner."""
