"""What a release gives back: attacks on a released file with everything that it contains, one module each."""
