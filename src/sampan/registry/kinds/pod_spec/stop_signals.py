"""Signals that may stop a container. Source: pkg/apis/core/validation/validation.go (1.36)."""

WINDOWS_SIGNALS = frozenset({"SIGKILL", "SIGTERM"})
_NAMES = (
    "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM "
    "TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX"
)
LINUX_SIGNALS = frozenset(
    [f"SIG{name}" for name in _NAMES.split(" ")]
    + [f"SIGRTMIN+{n}" for n in range(1, 16)]
    + [f"SIGRTMAX-{n}" for n in range(1, 15)]
)
