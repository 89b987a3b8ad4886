package sluice;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RRateLimiter;

/** Many calls on one limiter, from several threads. */
final class Load {
    private final RRateLimiter limiter;
    private final String mix;
    private final long pause; // between two calls of a thread, in microseconds
    private final LongAdder granted = new LongAdder(), refused = new LongAdder();
    private final ConcurrentLinkedQueue<Throwable> thrown = new ConcurrentLinkedQueue<>();

    private Load(RRateLimiter limiter, String mix, long pause) {
        this.limiter = limiter;
        this.mix = mix;
        this.pause = pause;
    }

    /**
     * Arguments: how many threads, for how many milliseconds, and the mix: "try", or "mixed": tryAcquire, tryAcquire with a timeout of 200 ms and acquire by
     * turns; then, if there is one, the pause between two calls of a thread in microseconds.
     * The answer: granted=N refused=N threw=N took_us=N p50_us=N p99_us=N first=what was thrown first.
     */
    static String run(RRateLimiter limiter, List<String> args) throws InterruptedException {
        Load load = new Load(limiter, args.get(2), args.size() > 3 ? Long.parseLong(args.get(3)) : 0);
        return load.run(Integer.parseInt(args.get(0)), Long.parseLong(args.get(1)));
    }

    private String run(int count, long millis) throws InterruptedException {
        long begin = System.nanoTime();
        long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
        List<Thread> threads = new ArrayList<>();
        List<Times> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Times t = new Times();
            Thread thread = new Thread(() -> calls(end, t));
            times.add(t);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long took = System.nanoTime() - begin;
        long[] all = times.stream().flatMapToLong(Times::stream).sorted().toArray();
        Throwable first = thrown.peek();
        return "granted=" + granted.sum() + " refused=" + refused.sum() + " threw=" + thrown.size() + " took_us=" + took / 1000
                + " p50_us=" + at(all, 0.50) + " p99_us=" + at(all, 0.99) + " first=" + (first == null ? "-" : Calls.cause(first));
    }

    private void calls(long end, Times times) {
        for (long i = 0; ; i++) {
            long begin = System.nanoTime();
            if (begin >= end) {
                return;
            }
            try {
                (take(mix.equals("mixed") ? i % 3 : 0) ? granted : refused).increment();
            } catch (Throwable t) {
                thrown.add(t);
            }
            times.add((System.nanoTime() - begin) / 1000);
            if (pause > 0) {
                LockSupport.parkNanos(pause * 1000);
            }
        }
    }

    private boolean take(long way) {
        if (way == 0) {
            return limiter.tryAcquire(1);
        } else if (way == 1) {
            return limiter.tryAcquire(1, 200, TimeUnit.MILLISECONDS);
        }
        limiter.acquire(1);
        return true;
    }

    private static long at(long[] sorted, double part) {
        return sorted.length == 0 ? 0 : sorted[(int) Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
    }

    /** How long the calls of a thread took. */
    private static final class Times {
        private long[] all = new long[1024];
        private int count;

        void add(long micros) {
            if (count == all.length) {
                all = Arrays.copyOf(all, 2 * count);
            }
            all[count++] = micros;
        }

        java.util.stream.LongStream stream() {
            return Arrays.stream(all, 0, count);
        }
    }
}
