"""What the tests of Guillemot run on: fetched tools, started services, small clients."""
