"""From a question, or a graph that a user drew, to a Graph that the engine runs."""
