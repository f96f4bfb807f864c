"""How background work is shared out, and how it goes on while a model fails."""
