"""Temperatures."""


def to_celsius(fahrenheit):
    """Convert degrees Fahrenheit into degrees Celsius."""
    return (fahrenheit - 32) * 5 / 9


def to_fahrenheit(celsius):
    """Convert degrees Celsius into degrees Fahrenheit."""
    return celsius * 9 / 5 + 32
