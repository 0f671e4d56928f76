"""Passwords are read from the terminal or a pipe. Arguments can be seen by other users of the machine."""

import sys

import click


def read_password(called: str = "Password", *, twice: bool = False) -> str:
    if sys.stdin.isatty():
        password: str = click.prompt(called, hide_input=True, confirmation_prompt=twice, err=True)
        return password
    return sys.stdin.readline().rstrip("\r\n")
