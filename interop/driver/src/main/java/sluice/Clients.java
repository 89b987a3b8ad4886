package sluice;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The Redisson instances of this JVM, by the names that the commands give them. */
final class Clients {
    private final Map<String, RedissonClient> clients = new ConcurrentHashMap<>();

    /** Settings are Redisson's own, but for the connections that are made before anybody needs them. */
    void open(String name, String address) {
        Config config = new Config();
        config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(1);
        RedissonClient before = clients.put(name, Redisson.create(config));
        if (before != null) {
            before.shutdown();
        }
    }

    RedissonClient get(String name) {
        RedissonClient client = clients.get(name);
        if (client == null) {
            throw new IllegalArgumentException("no client " + name);
        }
        return client;
    }

    void close(String name) {
        clients.remove(name).shutdown();
    }
}
