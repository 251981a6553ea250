"""What the machine does while something is measured on it."""
import os
import pathlib
import platform

TICK = os.sysconf("SC_CLK_TCK")


def stat_of(pid):
    """(name, parent, CPU seconds of it and its threads), None if it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name = text[text.index("(") + 1:text.rindex(")")]
    fields = text[text.rindex(")") + 2:].split()
    return name, int(fields[1]), (int(fields[11]) + int(fields[12])) / TICK


def cpu_of(pid):
    """CPU seconds so far, of its threads that live: to the nanosecond, where
    stat counts hundredths."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            continue  # it has just ended
    return total / 1e9


def processes():
    """All of them but the kernel's own threads."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            stat = stat_of(entry)
            if stat is not None and int(entry) != 2 and stat[1] != 2:
                found[int(entry)] = stat
    return found


def family(all_of_them, roots):
    """The processes in roots and all that descend from them."""
    ours = set(roots)
    grown = True
    while grown:
        more = {pid for pid, (_, parent, _) in all_of_them.items()
                if parent in ours and pid not in ours}
        ours |= more
        grown = bool(more)
    return ours


class Watch:
    """How much CPU the processes that are not ours used since it was made."""

    def __init__(self, roots):
        self.roots = set(roots) | {os.getpid()}
        self.before = processes()

    def others(self):
        """CPU seconds of the others, and (seconds, name) of the busiest."""
        now = processes()
        ours = (family(now, self.roots) | family(self.before, self.roots))
        used = [(stat[2] - self.before.get(pid, ("", 0, 0))[2], stat[0])
                for pid, stat in now.items() if pid not in ours]
        return sum(seconds for seconds, _ in used), max(used, default=(0, ""))


def resident(pid):
    """Bytes of memory in use that are its own, not shared with files."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} says nothing of its memory")


def description():
    """The machine, for whoever reads the numbers."""
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    system = "unknown"
    for line in pathlib.Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            system = line.split("=", 1)[1].strip('"')
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": model, "cores": os.cpu_count(),
            "memory_gib": round(memory / 2**30, 1), "system": system,
            "kernel": platform.release()}
