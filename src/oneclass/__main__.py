"""``python -m oneclass``: the command line."""

from oneclass.cli import main

if __name__ == "__main__":
    main()
