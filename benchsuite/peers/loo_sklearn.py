"""scikit-learn's RidgeClassifierCV: leave-one-out over the same 25 penalties."""

from contestant import arguments, serve
from problem import penalties
from shallow import Shallow
from sklearn.linear_model import RidgeClassifierCV

options = arguments("data", "splits")
problem = Shallow(options.data, options.splits)
grid = penalties(float((problem.train.astype("float64") ** 2).sum(axis=1).mean()))

serve(
    lambda: RidgeClassifierCV(grid, fit_intercept=False).fit(problem.train, problem.train_labels),
    lambda model: {
        "check": {"penalty": model.alpha_, "accuracy": problem.accuracy(model.coef_.T)},
    },
    ["scikit-learn", "scipy", "numpy"],
)
