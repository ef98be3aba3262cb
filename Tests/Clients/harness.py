"""A server for the tests of a client, and what they share."""

import logging
import os
import signal
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
import uuid

# Test cases run asyncio in its debug mode, which reports each step of more than 0.1 s.
logging.getLogger("asyncio").setLevel(logging.ERROR)

PROGRAM = os.environ["CDTQUERY"]


class User:
    def __init__(self, name, password, role=None):
        self.name = name
        self.password = password
        self.role = role


ADMIN = User("mike", "correct horse", "_admin")
MEMBER = User("zoe", "tr0ub4dor", "team")
MONITOR = User("prometheus", "staple", "_metrics")


class Server:
    """The server in a process of its own, with a new directory, and with the users above unless everybody may do everything."""

    def __init__(self, *options, has_users=True):
        self.directory = tempfile.TemporaryDirectory()
        self.options = options
        if has_users:
            users = os.path.join(self.directory.name, "users.json")
            self.options += ("--users", users)
            for user in (ADMIN, MEMBER, MONITOR):
                subprocess.run(
                    [PROGRAM, "user", "add", users, user.name, "--role", user.role, "--password-file", "-"],
                    input=user.password, text=True, check=True, capture_output=True)
        self.start(port=0)

    def start(self, port):
        stores = os.path.join(self.directory.name, "stores")
        self.process = subprocess.Popen(
            [PROGRAM, "serve", stores, "--bind", f"127.0.0.1:{port}", "--log-level", "warning", *self.options],
            stderr=subprocess.PIPE, text=True)
        # "cdtquery: serving DIRECTORY at http://127.0.0.1:PORT"
        line = self.process.stderr.readline()
        if "http://" not in line:
            raise RuntimeError(f"the server did not start: {line}{self.process.stderr.read()}")
        self.url = line.split()[-1]
        self.port = int(self.url.rpartition(":")[2])
        self.log = []
        self.reader = threading.Thread(target=self.log.extend, args=(self.process.stderr,))
        self.reader.start()

    def url_for(self, user):
        """The URL with a name and a password in it."""
        return self.url.replace("://", f"://{user.name}:{urllib.parse.quote(user.password)}@")

    def stop(self):
        """Ends the server, which must end well and have nothing to report."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.reader.join()
        self.process.stderr.close()
        # Which SQLite the server has depends on the machine.
        log = [line for line in self.log if "has the WAL-reset bug" not in line]
        if status != 0 or log:
            raise AssertionError(f"the server ended with {status} and logged: {''.join(log)}")

    def restart(self):
        """Ends the server and starts it at the same port."""
        self.stop()
        self.start(self.port)

    def close(self):
        try:
            self.stop()
        finally:
            self.directory.cleanup()


class ServerTestCase(unittest.TestCase):
    """Tests with a server for all of them, and the name of a new database for each."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.name = f"db_{uuid.uuid4().hex}"


def in_background(action):
    """Starts an action; the result is a function that waits for it and returns what it returned or raises what it raised."""
    outcome = {}

    def run():
        try:
            outcome["value"] = action()
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def wait(seconds=60):
        thread.join(seconds)
        if thread.is_alive():
            raise TimeoutError(f"no answer within {seconds} seconds")
        if "error" in outcome:
            raise outcome["error"]
        return outcome["value"]

    return wait
