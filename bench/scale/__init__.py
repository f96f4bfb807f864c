"""What the server costs as work grows: measured here, modelled beyond this machine."""
