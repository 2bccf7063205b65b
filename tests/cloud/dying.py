# SPDX-License-Identifier: Apache-2.0
"""A heatconv-all that dies at an instant: ``dying.py LOG REQUESTS ARGUMENT...``.

``REQUESTS`` is a regular expression of all that it asked for so far, a verb and
an address on each line.  Once a service has answered the request by which that
matches, the process is no more, before any of its code sees the answer; so
nothing that was made is written down.  The same lines go to the file ``LOG``,
each with the answer's status.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from pathlib import Path

from keystoneauth1.session import Session

from heatconv.cmd import all as program

LOG, DEADLY = Path(sys.argv[1]), re.compile(sys.argv[2], re.MULTILINE)
LOCK = threading.Lock()
ASKED: list[str] = []
PLAIN = Session._send_request


def send(self, url, method, *args, **kwargs):
    """Send a request; die of the answer if it is time."""
    answer = PLAIN(self, url, method, *args, **kwargs)
    with LOCK, LOG.open("a") as log:
        log.write(f"{method} {url} {answer.status_code}\n")
        log.flush()
        if answer.ok:
            ASKED.append(f"{method} {url}\n")
            if DEADLY.search("".join(ASKED)):
                os.kill(os.getpid(), signal.SIGKILL)
    return answer


setattr(Session, PLAIN.__name__, send)
sys.argv[1:] = sys.argv[3:]
program.main()
