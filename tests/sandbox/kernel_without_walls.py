"""Starts the `kernel` sandbox where the kernel refuses namespaces, Landlock and filters of system calls."""

import asyncio
import errno

from answerable.core.errors import OperatorError
from answerable.isolation import seccomp
from answerable.isolation.kernel import forbid_new_privileges
from answerable.isolation.seccomp import ALLOW, JUMP_IF_EQUAL, REFUSE, RETURN, instruction
from answerable.sandbox.base import SandboxRequest
from answerable.sandbox.kernel.sandbox import KernelSandbox

MISSING = {
    "unshare": (272, 97),
    "landlock_create_ruleset": (444, 444),
    "seccomp": (317, 277),
    "mount": (165, 40),
}


def take_away() -> None:
    which, code = seccomp.prologue(wrong_kind=REFUSE | errno.EPERM)
    for numbers in MISSING.values():
        code += [instruction(JUMP_IF_EQUAL, numbers[which], 0, 1), instruction(RETURN, REFUSE | errno.ENOSYS)]
    forbid_new_privileges()
    seccomp.install(b"".join([*code, instruction(RETURN, ALLOW)]))


async def main() -> None:
    take_away()
    try:
        await KernelSandbox(1, bubblewrap=False).start()
    except OperatorError as error:
        print(error.stable_code)
        print(error.message)
        print(error.hint)
    sandbox = KernelSandbox(1, bubblewrap=False, allow_unisolated=True)
    result = await sandbox.run(SandboxRequest("result = 1"))
    print(result.outcome, result.isolated)
    await sandbox.close()


asyncio.run(main())
