package guillemot.compat;

/** The same on a server that keeps its state in Postgres. */
class ViewOnPostgresTest extends ViewTest {}
