def greet(n):
    return f"Hello, {n}!"
