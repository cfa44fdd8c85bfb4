import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What this engine says it did, one JSON line a claim, for the matrix to check. */
final class Claims {
  private static final Path FILE = Path.of(System.getenv("CLAIMS"));

  private Claims() {}

  /** Something that may fail. */
  interface Body {
    /** Returns what an independent reader should find as JSON objects joined by commas, or null. */
    String run() throws Exception;
  }

  /** A step that should work. */
  static void step(String name, Body body) {
    try {
      String proofs = body.run();
      write("\"step\":" + quoted(name) + ",\"result\":\"pass\",\"proofs\":[" + (proofs == null ? "" : proofs) + "]");
    } catch (Throwable e) {
      e.printStackTrace();
      write("\"step\":" + quoted(name) + ",\"result\":\"fail\",\"message\":" + quoted(root(e)));
    }
  }

  /** A step that this engine refuses by itself; when it works, that is claimed instead. */
  static void absent(String name, Body body) {
    otherwise("absent", name, body);
  }

  /** A step at which this engine fails by a fault of its own; when it works, that is claimed instead. */
  static void fault(String name, Body body) {
    otherwise("fault", name, body);
  }

  private static void otherwise(String result, String name, Body body) {
    try {
      body.run();
      write("\"step\":" + quoted(name) + ",\"result\":\"pass\"");
    } catch (Throwable e) {
      e.printStackTrace();
      write("\"step\":" + quoted(name) + ",\"result\":\"" + result + "\",\"message\":" + quoted(root(e)));
    }
  }

  /** The rows of a history, or why they could not be counted. */
  static void count(String history, java.util.concurrent.Callable<Long> rows) {
    try {
      write("\"count\":" + quoted(history) + ",\"rows\":" + rows.call());
    } catch (Throwable e) {
      write("\"count\":" + quoted(history) + ",\"message\":" + quoted(root(e)));
    }
  }

  /** What a reader should find in a table now. */
  static String proof(String table, String expected) {
    return "{\"table\":" + quoted(table) + "," + expected + "}";
  }

  /** Fails the step unless both are equal. */
  static void same(Object found, Object expected) {
    if (!found.equals(expected)) {
      throw new AssertionError("expected " + expected + ", found " + found);
    }
  }

  private static String root(Throwable e) {
    while (e.getCause() != null && e.getCause() != e && e.getCause().getMessage() != null) {
      e = e.getCause();
    }
    return e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  private static synchronized void write(String members) {
    try {
      Files.writeString(FILE, "{" + members + "}\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    return out.append('"').toString();
  }
}
