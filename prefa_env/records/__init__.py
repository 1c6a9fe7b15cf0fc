"""Records of deals and matches, version 1: written, read, replayed; `docs/records.md`.

Data frames are in `prefa_env.records.frames` (extra `frames`), the command line is
`python -m prefa_env.records`.
"""

from .files import TruncatedError, read_records, scan_records, write_records
from .formats import (
    VERSION,
    DealRecord,
    MalformedError,
    MatchDeal,
    MatchRecord,
    Record,
    RecordError,
    Start,
    json_schema,
    parse_record,
)
from .logs import records_of_log
from .recording import record_deal, record_match, record_match_deal
from .replay import check_records, replay, replay_deals

__all__ = [
    "VERSION",
    "DealRecord",
    "MalformedError",
    "MatchDeal",
    "MatchRecord",
    "Record",
    "RecordError",
    "Start",
    "TruncatedError",
    "check_records",
    "json_schema",
    "parse_record",
    "read_records",
    "record_deal",
    "record_match",
    "record_match_deal",
    "records_of_log",
    "replay",
    "replay_deals",
    "scan_records",
    "write_records",
]
