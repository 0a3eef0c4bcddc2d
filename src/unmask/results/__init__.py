"""What an audit or a comparison says, as data: the schema of `result.json`, where it came from, how it is stored."""

from unmask.results.comparison import Agreement as Agreement
from unmask.results.comparison import Change as Change
from unmask.results.comparison import Comparison as Comparison
from unmask.results.comparison import ComparisonResult as ComparisonResult
from unmask.results.comparison import Correlation as Correlation
from unmask.results.comparison import MeasureFigure as MeasureFigure
from unmask.results.comparison import ModelFigures as ModelFigures
from unmask.results.comparison import Side as Side
from unmask.results.comparison import Usefulness as Usefulness
from unmask.results.comparison import UsefulnessChange as UsefulnessChange
from unmask.results.comparison import Verdict as Verdict
from unmask.results.schema import RULE_VERSION as RULE_VERSION
from unmask.results.schema import SCHEMA_VERSION as SCHEMA_VERSION
from unmask.results.schema import AuditResult as AuditResult
from unmask.results.schema import Caveat as Caveat
from unmask.results.schema import Competence as Competence
from unmask.results.schema import Effect as Effect
from unmask.results.schema import Estimate as Estimate
from unmask.results.schema import Interval as Interval
from unmask.results.schema import Measurement as Measurement
from unmask.results.schema import ModelInfo as ModelInfo
from unmask.results.schema import Origin as Origin
from unmask.results.schema import Record as Record
