"""Speed and memory, side by side with peers in the same run; ``python -m benchmarks`` prints all."""
