from .engines import ENGINES as ENGINES
from .experiments.config import RunConfig as RunConfig
from .experiments.figures import plot_arrows as plot_arrows
from .experiments.figures import plot_field as plot_field
from .experiments.figures import plot_kicks as plot_kicks
from .experiments.figures import plot_residuals as plot_residuals
from .experiments.figures import plot_training as plot_training
from .experiments.result import Run as Run
from .experiments.run import run as run
from .formulas.compare import Comparison as Comparison
from .formulas.compare import compare as compare
from .recovery.config import RecoverConfig as RecoverConfig
from .recovery.config import Thresholds as Thresholds
from .recovery.gates import Gate as Gate
from .recovery.plot import plot_pareto_front as plot_pareto_front
from .recovery.recover import recover as recover
from .recovery.result import Quantity as Quantity
from .recovery.result import Recovery as Recovery
from .weighing.config import WeighConfig as WeighConfig
from .weighing.result import Weighing as Weighing
from .weighing.weigh import weigh as weigh

__version__: str
