"""
Convolutions of 3 by 3 by Winograd's minimal filtering F(4x4, 3x3): which nests they
are, what is computed instead, and the transforms.

A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
"""
