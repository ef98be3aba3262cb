"""Prometheus, which reads the metrics of the server."""

import base64
import json
import os
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from harness import MONITOR, ServerTestCase


class PrometheusTests(ServerTestCase):
    def read(self, path):
        request = urllib.request.Request(self.server.url + path)
        token = base64.b64encode(f"{MONITOR.name}:{MONITOR.password}".encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read().decode()

    def test_promtool_finds_nothing_to_correct(self):
        for path in ["/_metrics", "/_node/_local/_prometheus"]:
            with self.subTest(path):
                text = self.read(path)
                self.assertIn("cdtdatastore_request_duration_seconds_bucket", text)
                checked = subprocess.run(
                    ["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=60)
                self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_prometheus_scrapes_the_server_as_a_user_who_may_only_read_metrics(self):
        self.read("/_metrics")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        configuration = os.path.join(directory.name, "prometheus.yml")
        with open(configuration, "w") as file:
            # JSON is YAML.
            json.dump({
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [{
                    "job_name": "cdtdatastore", "metrics_path": "/_metrics",
                    "basic_auth": {"username": MONITOR.name, "password": MONITOR.password},
                    "static_configs": [{"targets": [f"127.0.0.1:{self.server.port}"]}],
                }],
            }, file)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        with open(os.path.join(directory.name, "log"), "w+") as log:
            process = subprocess.Popen(
                ["prometheus", f"--config.file={configuration}", f"--web.listen-address=127.0.0.1:{port}",
                 f"--storage.tsdb.path={directory.name}/data"], stdout=log, stderr=log)
            try:
                def query(text):
                    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
                    with urllib.request.urlopen(url, timeout=60) as reply:
                        return json.load(reply)["data"]["result"]

                def wait(text):
                    """The result of a query, once it has one."""
                    for _ in range(600):
                        try:
                            if result := query(text):
                                return result
                        except OSError:
                            self.assertIsNone(process.poll(), "Prometheus has ended")
                        time.sleep(0.1)
                    log.seek(0)
                    self.fail(f"{text}: no result; Prometheus says:\n{log.read()}")

                wait('up{job="cdtdatastore"} == 1')
                wait('cdtdatastore_replies_total{method="GET",status="200"} >= 1')
                wait("histogram_quantile(0.99, cdtdatastore_request_duration_seconds_bucket) > 0")
                wait("cdtdatastore_disk_free_bytes > 0")
            finally:
                process.terminate()
                process.wait(60)


if __name__ == "__main__":
    unittest.main()
