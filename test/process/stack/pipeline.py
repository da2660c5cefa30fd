"""Lines of a stack's containers on the standard input, the batches that its Vector sends for them on the output.

The programs do what those of the stack do, failures included; VRL itself is Vector's own.
"""

import json
import sys

from vrl_python import VRLRuntime

BEGIN = """
.project = "default"
.event_message = del(.message)
.appname = del(.container_name)
del(.stream)
"""

GATEWAY = [
    (
        "cloudflare.logs.prod",
        """
line, fault = parse_nginx_log(.event_message, "combined")
if fault != null { abort }
.timestamp = line.timestamp
.metadata.request.headers.referer = line.referer
.metadata.request.headers.user_agent = line.agent
.metadata.request.headers.cf_connecting_ip = line.client
.metadata.request.method = line.method
.metadata.request.path = line.path
.metadata.request.protocol = line.protocol
.metadata.response.status_code = line.status
""",
    ),
    (
        "cloudflare.logs.prod",
        """
.metadata.request.method = "GET"
.metadata.response.status_code = 200
line, fault = parse_nginx_log(.event_message, "error")
if fault != null { abort }
.timestamp = line.timestamp
.severity = line.severity
.metadata.request.host = line.host
.metadata.request.headers.cf_connecting_ip = line.client
words, fault = split(line.request, " ")
if fault != null { abort }
.metadata.request.method = words[0]
.metadata.request.path = words[1]
.metadata.request.protocol = words[2]
""",
    ),
]

PROGRAMS = {
    "supabase-kong": GATEWAY,
    "supabase-envoy": GATEWAY,
    "supabase-auth": [
        (
            "gotrue.logs.prod",
            """
fields, fault = parse_json(.event_message)
if fault == null {
  .metadata.timestamp = fields.time
  .metadata = merge!(.metadata, fields)
}
""",
        )
    ],
    "supabase-rest": [
        (
            "postgREST.logs.prod",
            """
parts, fault = parse_regex(.event_message, r'^(?P<time>.*): (?P<msg>.*)$')
if fault == null {
  .event_message = parts.msg
  .timestamp = parse_timestamp!(parts.time, "%d/%b/%Y:%H:%M:%S %z")
  .metadata.host = .project
}
""",
        )
    ],
    "realtime-dev.supabase-realtime": [
        (
            "realtime.logs.prod",
            r"""
.metadata.project = del(.project)
.metadata.external_id = .metadata.project
parts, fault = parse_regex(.event_message, r'^(?P<time>\d+:\d+:\d+\.\d+) \[(?P<level>\w+)\] (?P<msg>.*)$')
if fault == null {
  .event_message = parts.msg
  .metadata.level = parts.level
}
""",
        )
    ],
    "supabase-edge-functions": [("deno-relay-logs", ".metadata.project_ref = del(.project)")],
    "supabase-storage": [
        (
            "storage.logs.prod.2",
            """
.metadata.project = del(.project)
.metadata.tenantId = .metadata.project
fields, fault = parse_json(.event_message)
if fault == null {
  .event_message = fields.msg
  .metadata.level = fields.level
  .metadata.timestamp = fields.time
  .metadata.context[0].host = fields.hostname
  .metadata.context[0].pid = fields.pid
}
""",
        )
    ],
    "supabase-db": [
        (
            "postgres.logs",
            """
.metadata.host = "db-default"
.metadata.parsed.timestamp = .timestamp
parts, fault = parse_regex(.event_message, r'.*(?P<level>INFO|NOTICE|WARNING|ERROR|LOG|FATAL|PANIC?):.*', numeric_groups: true)
if fault != null || parts == null { .metadata.parsed.error_severity = "LOG" }
if parts != null { .metadata.parsed.error_severity = parts.level }
.metadata.parsed.error_severity = upcase!(.metadata.parsed.error_severity)
""",
        )
    ],
}


def run(program, event):
    return VRLRuntime("UTC").execute(program, dict(event)).processed_event


def as_sent(event):
    """Times as Vector writes them in JSON."""
    moment = event.get("timestamp")
    if isinstance(moment, str) and moment.endswith(" UTC"):
        event["timestamp"] = moment.removesuffix(" UTC").replace(" ", "T") + "Z"
    return event


def main():
    batches = {}
    for line in json.load(sys.stdin):
        for source, program in PROGRAMS[line["container_name"]]:
            event = run(BEGIN, line)
            try:
                event = run(program, event)
            except RuntimeError as error:
                # The line is not of this kind. Events on which a program fails in another way are sent as they were before.
                if "aborted" in str(error):
                    continue
            batches.setdefault(source, []).append(as_sent(event))
    json.dump(batches, sys.stdout, indent=2)


main()
