"""Pure computations in processes of their own, so that they use every core and never hold up the event loop."""
