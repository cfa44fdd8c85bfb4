package guillemot.compat;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** Stands between client and server, keeps what passes, and does harm when told to. */
final class Proxy implements AutoCloseable {
  /** What can happen to a request. */
  enum Fault {
    /** 503 with Retry-After; the server never sees the request. */
    UNAVAILABLE,
    /** The server answers, and the client is told 503 with Retry-After. */
    UNAVAILABLE_AFTERWARDS,
    /** The server answers, and the client is told 502, as by a load balancer that lost patience. */
    BAD_GATEWAY_AFTERWARDS,
    /** The server answers, and the client's connection is closed without a word. */
    CUT_AFTERWARDS,
  }

  /** A request, and what the client was told; `reply` is null where its connection was cut. */
  record Exchange(String method, String path, Message request, Message reply, Fault fault) {
    /** The status that the client saw; 0 for a cut connection. */
    int status() {
      return reply == null ? 0 : Integer.parseInt(reply.start().split(" ")[1]);
    }

    @Override
    public String toString() {
      return method + " " + path + " " + status() + (fault == null ? "" : " " + fault);
    }
  }

  private final URI server;
  private final ServerSocket listener;
  private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();
  private final Map<String, Queue<Fault>> faults = new ConcurrentHashMap<>();
  private final Map<String, Runnable> firsts = new ConcurrentHashMap<>();

  Proxy(String server) throws IOException {
    this.server = URI.create(server);
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** What a client is given in place of the server's address. */
  String uri() {
    return "http://127.0.0.1:" + listener.getLocalPort() + server.getPath();
  }

  /** Lets the next requests of this method whose path ends so meet these faults, one each. */
  void harm(String method, String pathEnd, Fault... next) {
    faults.put(method + " " + pathEnd, new ArrayDeque<>(List.of(next)));
  }

  /** Has something done before the next request of this method whose path ends so reaches the server. */
  void before(String method, String pathEnd, Runnable first) {
    firsts.put(method + " " + pathEnd, first);
  }

  /** Forgets what passed until now. */
  void forget() {
    exchanges.clear();
  }

  /** What passed, of this method and with a path that ends so. */
  List<Exchange> seen(String method, String pathEnd) {
    return exchanges.stream()
        .filter(e -> e.method().equals(method) && e.path().split("\\?")[0].endsWith(pathEnd))
        .collect(Collectors.toList());
  }

  /** All that passed. */
  List<Exchange> seen() {
    return exchanges;
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        start(() -> serve(client));
      } catch (IOException e) {
        if (!listener.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket upstream = new Socket(server.getHost(), server.getPort())) {
      InputStream requests = new BufferedInputStream(client.getInputStream());
      InputStream replies = new BufferedInputStream(upstream.getInputStream());
      for (Message request = Message.request(requests); request != null; request = Message.request(requests)) {
        if (!pass(request, client, upstream, replies)) {
          return;
        }
      }
    } catch (IOException e) {
      // A side hung up, as clients do when they are closed.
    }
  }

  /** Passes one request on; false when the connection is to be closed. */
  private boolean pass(Message request, Socket client, Socket upstream, InputStream replies) throws IOException {
    String[] words = request.start().split(" ");
    String path = words[1].split("\\?")[0];
    Fault fault = of(faults, words[0], path).map(Queue::poll).orElse(null);
    Optional<Runnable> first = of(firsts, words[0], path);
    first.ifPresent(work -> firsts.values().remove(work));
    first.ifPresent(Runnable::run);
    Message reply = null;
    if (fault != Fault.UNAVAILABLE) {
      upstream.getOutputStream().write(request.raw());
      reply = Message.reply(replies, words[0]);
    }
    if (fault != null) {
      reply = told(fault);
    }
    exchanges.add(new Exchange(words[0], words[1], request, reply, fault));
    if (reply == null) {
      return false;
    }
    client.getOutputStream().write(reply.raw());
    return true;
  }

  private static <T> Optional<T> of(Map<String, T> all, String method, String path) {
    return all.entrySet().stream()
        .filter(e -> e.getKey().startsWith(method + " ") && path.endsWith(e.getKey().split(" ")[1]))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  private static Message told(Fault fault) {
    return switch (fault) {
      case UNAVAILABLE, UNAVAILABLE_AFTERWARDS -> message("503 Service Unavailable\r\nRetry-After: 1");
      case BAD_GATEWAY_AFTERWARDS -> message("502 Bad Gateway");
      case CUT_AFTERWARDS -> null;
    };
  }

  private static Message message(String head) {
    String raw = "HTTP/1.1 " + head + "\r\nContent-Length: 0\r\n\r\n";
    return new Message("HTTP/1.1 " + head.split("\r")[0], Map.of(), new byte[0], raw.getBytes(StandardCharsets.UTF_8));
  }
}
