"""Operations, by backend."""
