"""Sandboxes that another program makes: a container, a pod, a virtual machine."""
