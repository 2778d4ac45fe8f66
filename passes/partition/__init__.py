"""
Which candidate gets which op, as a problem of numbers: costs, copies, launches, without
any IR.
"""
