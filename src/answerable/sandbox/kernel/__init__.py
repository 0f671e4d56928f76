"""The `kernel` sandbox: full CPython in processes of this machine, behind the walls of the Linux kernel."""
