"""
Where values are stored, and the copies that follow from it.
"""
