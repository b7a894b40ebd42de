"""Discrete exterior calculus on meshes: complexes, operators, solves, harmonic cochains, decompositions, spectra."""

from sciml.hodge.complex import Complex as Complex
from sciml.hodge.complex import build as build
from sciml.hodge.complex import circumcentric as circumcentric
from sciml.hodge.complex import measured as measured
from sciml.hodge.complex import measured_by_lengths as measured_by_lengths
from sciml.hodge.decompose import Decomposition as Decomposition
from sciml.hodge.decompose import decompose as decompose
from sciml.hodge.eigen import Modes as Modes
from sciml.hodge.eigen import cluster_mean as cluster_mean
from sciml.hodge.eigen import eigen as eigen
from sciml.hodge.five import FiveParts as FiveParts
from sciml.hodge.five import decompose_five as decompose_five
from sciml.hodge.harmonic import harmonic_basis as harmonic_basis
from sciml.hodge.operators import codifferential as codifferential
from sciml.hodge.operators import d as d
from sciml.hodge.operators import dirichlet_energy as dirichlet_energy
from sciml.hodge.operators import inner as inner
from sciml.hodge.operators import laplacian as laplacian
from sciml.hodge.operators import mass as mass
from sciml.hodge.operators import norm as norm
from sciml.hodge.operators import stiffness as stiffness
from sciml.hodge.solve import Cohomology as Cohomology
from sciml.hodge.solve import cohomology as cohomology
from sciml.hodge.solve import poisson as poisson
from sciml.hodge.solve import solve as solve
