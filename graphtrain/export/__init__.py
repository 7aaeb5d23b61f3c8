"""What goes into an exported model, its inputs and its outputs, and when it is exported."""

from graphtrain.export.best_exporter import BestExporter
from graphtrain.export.exporters import Exporter, FinalExporter, LatestExporter
from graphtrain.export.outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from graphtrain.export.receivers import (
    ServingInputReceiver,
    TensorServingInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
)
from graphtrain.export.supervised import SupervisedInputReceiver

__all__ = [
    "BestExporter",
    "ClassificationOutput",
    "ExportOutput",
    "Exporter",
    "FinalExporter",
    "LatestExporter",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
]
