"""Serves Amazon's Auto Scaling API on loopback: moto, behind a layer that does what moto leaves out.

    with AutoScaling(folder) as aws:          # Raises servers.Missing where moto cannot be installed.
        aws.create_group("g", max_size=4)
        aws.capacity = 2                      # AWS has no more than two instances to give.
        aws.stale = 3                         # The next three answers about the group are outdated.
        aws.throttled = 1                     # The next request is refused.

The layer refuses a capacity over the group's size, as AWS does. Where capacity is short, the group keeps its desired
capacity, has fewer instances, and its activities say why. Only the standard library is used.
"""
import http.client
import re
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import servers

VERSION = "2011-01-01"
SHORT = ("Could not launch Spot Instances. InsufficientInstanceCapacity - There is no Spot capacity available that "
         "matches your request. Launching EC2 instance failed.")


class Moto(servers.Server):
    def start(self):
        self.spawn(servers.python_wheels("moto") / "bin/moto_server", "-H", "127.0.0.1", "-p", self.port)

    def create_bucket(self):
        return servers.ask(self.port, "GET", "/moto-api/data.json")[0] == 200


class AutoScaling:
    def __init__(self, folder):
        self.moto = Moto(folder)
        self.capacity, self.stale, self.throttled = None, 0, 0
        self.desired, self.last, self.actions = {}, {}, []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.moto.__enter__()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.moto.__exit__()

    def moto_call(self, service, action, version, **parameters):
        body = urllib.parse.urlencode({"Action": action, "Version": version, **parameters}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.moto.port, timeout=30)
        connection.request("POST", "/", body, {
            "Content-Type": "application/x-www-form-urlencoded", "Host": f"{service}.us-east-1.amazonaws.com",
            "Authorization": f"AWS4-HMAC-SHA256 Credential=AK/20261122/us-east-1/{service}/aws4_request, "
                             "SignedHeaders=host, Signature=0"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def must(self, service, action, version, **parameters):
        status, text = self.moto_call(service, action, version, **parameters)
        if status != 200:
            raise RuntimeError(f"{action}: {status}: {text[:500]}")
        return text

    def create_group(self, name, max_size):
        images = self.must("ec2", "DescribeImages", "2016-11-15")
        image = re.search(r"<imageId>(ami-[0-9a-f]+)</imageId>", images).group(1)
        self.must("autoscaling", "CreateLaunchConfiguration", VERSION, LaunchConfigurationName=name, ImageId=image,
                  InstanceType="t3.small")
        self.must("autoscaling", "CreateAutoScalingGroup", VERSION, AutoScalingGroupName=name, MinSize=0,
                  MaxSize=max_size, LaunchConfigurationName=name, **{"AvailabilityZones.member.1": "us-east-1a"})

    def error(self, code, message):
        return 400, (f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
                     "</ErrorResponse>")

    def answer(self, form):
        action, group = form["Action"], form.get("AutoScalingGroupName") or form.get("AutoScalingGroupNames.member.1")
        self.actions.append(action)
        if self.throttled > 0:
            self.throttled -= 1
            return self.error("Throttling", "Rate exceeded")
        if action == "DescribeAutoScalingGroups":
            return self.describe(group, form)
        if action == "SetDesiredCapacity":
            return self.set_desired(group, form)
        if action == "DescribeScalingActivities" and self.short(group):
            return 200, ("<DescribeScalingActivitiesResponse><DescribeScalingActivitiesResult><Activities><member>"
                         "<Description>Launching a new EC2 instance.  Status Reason: none</Description>"
                         f"<StatusCode>Failed</StatusCode><StatusMessage>{SHORT}</StatusMessage></member></Activities>"
                         "</DescribeScalingActivitiesResult></DescribeScalingActivitiesResponse>")
        ends = action == "TerminateInstanceInAutoScalingGroup"
        if ends and form["InstanceId"] not in self.must("autoscaling", "DescribeAutoScalingGroups", VERSION):
            return self.error("ValidationError", "Instance Id not found - No managed instance found for instance ID: "
                                                 + form["InstanceId"])
        status, text = self.forward(form)
        if ends and status == 200:
            # A test has only one group, so that group's desired capacity is decremented.
            for name in self.desired:
                self.desired[name] -= form["ShouldDecrementDesiredCapacity"] == "true"
        return status, text

    def forward(self, form):
        return self.moto_call("autoscaling", form["Action"], form["Version"],
                              **{n: v for n, v in form.items() if n not in ("Action", "Version")})

    def short(self, group):
        return self.capacity is not None and self.desired.get(group, 0) > self.capacity

    def describe(self, group, form):
        if self.stale > 0 and group in self.last:
            self.stale -= 1
            return self.last[group]
        status, text = self.forward(form)
        if self.short(group):
            text = re.sub(r"<DesiredCapacity>\d+<", f"<DesiredCapacity>{self.desired[group]}<", text)
        self.last[group] = status, text
        return status, text

    def set_desired(self, group, form):
        wanted = int(form["DesiredCapacity"])
        most = int(re.search(r"<MaxSize>(\d+)<", self.must(
            "autoscaling", "DescribeAutoScalingGroups", VERSION, **{"AutoScalingGroupNames.member.1": group})).group(1))
        if wanted > most:
            return self.error("ValidationError",
                              f"New SetDesiredCapacity value {wanted} is above max value {most} for the "
                                                 "AutoScalingGroup.")
        self.desired[group] = wanted
        had = wanted if self.capacity is None else min(wanted, self.capacity)
        return self.forward({**form, "DesiredCapacity": str(had)})

    def handler(aws):  # noqa: N805 because `self` names the handler
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                assert self.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential="), self.headers
                status, text = aws.answer(dict(urllib.parse.parse_qsl(body)))
                content = text.encode()
                self.send_response_only(status)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler
