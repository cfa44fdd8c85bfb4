package guillemot.compat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/** An HTTP/1.1 message: its bytes as they passed, and what they say. */
record Message(String start, Map<String, String> headers, byte[] body, byte[] raw) {
  /** Reads a request; null at the end of the connection. */
  static Message request(InputStream in) throws IOException {
    return read(in, true);
  }

  /** Reads the reply to a request of this method; null at the end of the connection. */
  static Message reply(InputStream in, String method) throws IOException {
    return read(in, !method.equals("HEAD"));
  }

  private static Message read(InputStream in, boolean mayHaveBody) throws IOException {
    ByteArrayOutputStream raw = new ByteArrayOutputStream();
    String start = line(in, raw);
    if (start == null) {
      return null;
    }
    Map<String, String> headers = new HashMap<>();
    for (String line = line(in, raw); !"".equals(line); line = line(in, raw)) {
      if (line == null) {
        throw new IOException("the connection ends inside a head: " + start);
      }
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
    }
    Message head = new Message(start, headers, new byte[0], new byte[0]);
    boolean none = !mayHaveBody || start.startsWith("HTTP/1.1 204") || start.startsWith("HTTP/1.1 304");
    byte[] body = none ? new byte[0] : body(head, in, raw);
    return new Message(start, headers, body, raw.toByteArray());
  }

  private static byte[] body(Message head, InputStream in, ByteArrayOutputStream raw) throws IOException {
    if (!"chunked".equals(head.header("transfer-encoding"))) {
      String length = head.header("content-length");
      return take(in, length == null ? 0 : Integer.parseInt(length), raw);
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int size = chunk(in, raw); size > 0; size = chunk(in, raw)) {
      body.write(take(in, size, raw));
      line(in, raw);
    }
    line(in, raw);
    return body.toByteArray();
  }

  private static int chunk(InputStream in, ByteArrayOutputStream raw) throws IOException {
    return Integer.parseInt(line(in, raw), 16);
  }

  private static byte[] take(InputStream in, int length, ByteArrayOutputStream raw) throws IOException {
    byte[] bytes = in.readNBytes(length);
    raw.write(bytes);
    return bytes;
  }

  private static String line(InputStream in, ByteArrayOutputStream raw) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next >= 0; next = in.read()) {
      raw.write(next);
      if (next == '\n') {
        return line.substring(0, line.length() - 1);
      }
      line.append((char) next);
    }
    return null;
  }

  /** A header's value, whatever the case of its name; null without it. */
  String header(String name) {
    for (Map.Entry<String, String> header : headers.entrySet()) {
      if (header.getKey().toLowerCase(Locale.ROOT).equals(name)) {
        return header.getValue();
      }
    }
    return null;
  }

  /** The body, decompressed. */
  String text() {
    if (!"gzip".equals(header("content-encoding"))) {
      return new String(body, StandardCharsets.UTF_8);
    }
    try (GZIPInputStream plain = new GZIPInputStream(new ByteArrayInputStream(body))) {
      return new String(plain.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
