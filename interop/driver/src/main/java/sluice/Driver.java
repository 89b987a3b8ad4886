package sluice;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.api.RRateLimiter;

/**
 * Takes commands on the standard input and answers on the standard output, one line each, fields by tabs. A command begins with a
 * number, which its answer repeats: answers come when they are ready, in any order.
 *
 * <pre>
 *   7  open  A  redis://127.0.0.1:6379      makes the client A
 *   8  call  A  order:submit  tryAcquire  2 calls a method of RRateLimiter
 *   8  ok  true                             or: 8  threw  org.redisson.client.RedisException  why
 * </pre>
 */
public final class Driver {
    private final Clients clients = new Clients();
    private final PrintStream out;

    private Driver(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] args) throws IOException {
        PrintStream out = System.out;
        System.setOut(System.err); // nothing else writes among the answers
        new Driver(out).serve();
        System.exit(0); // Redisson's threads would go on
    }

    private void serve() throws IOException {
        ExecutorService calls = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] fields = line.split("\t", -1);
            calls.execute(() -> answer(fields));
        }
    }

    private void answer(String[] fields) {
        String answer;
        try {
            answer = "ok\t" + run(fields[1], Arrays.asList(fields).subList(2, fields.length));
        } catch (Throwable t) {
            Throwable cause = Calls.cause(t);
            answer = "threw\t" + cause.getClass().getName() + "\t" + cause.getMessage();
        }
        byte[] line = (fields[0] + "\t" + answer.replace('\n', ' ') + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (out) {
            out.write(line, 0, line.length);
            out.flush();
        }
    }

    private String run(String command, List<String> args) throws Exception {
        switch (command) {
            case "open":
                clients.open(args.get(0), args.get(1));
                return "-";
            case "id":
                return clients.get(args.get(0)).getId();
            case "close":
                clients.close(args.get(0));
                return "-";
            case "call":
                return Calls.call(limiter(args), args.get(2), args.subList(3, args.size()));
            case "methods":
                return Calls.methods(RRateLimiter.class);
            case "now":
                return Long.toString(System.currentTimeMillis());
            case "load":
                return Load.run(limiter(args), args.subList(2, args.size()));
            default:
                throw new IllegalArgumentException("no command " + command);
        }
    }

    private RRateLimiter limiter(List<String> args) {
        return clients.get(args.get(0)).getRateLimiter(args.get(1));
    }
}
