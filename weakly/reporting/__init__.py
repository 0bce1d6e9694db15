"""What a person looks at: figures, the report page, the tables of REPRODUCTION.md."""
