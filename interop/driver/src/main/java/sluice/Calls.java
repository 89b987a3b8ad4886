package sluice;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Date;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.redisson.api.RateLimiterConfig;

/** Calls methods by their names, with arguments as text. So one driver serves all versions, whichever methods they have. */
final class Calls {
    private Calls() {}

    /** The overload is the first whose parameters can be read from the arguments. */
    static String call(Object target, String name, List<String> args) throws Exception {
        for (Method method : sorted(target.getClass().getMethods())) {
            if (!method.getName().equals(name) || method.getParameterCount() != args.size()) {
                continue;
            }
            List<Object> values = new ArrayList<>();
            for (Class<?> type : method.getParameterTypes()) {
                Object value = read(type, args.get(values.size()));
                if (value == null) {
                    break;
                }
                values.add(value);
            }
            if (values.size() == args.size()) {
                method.setAccessible(true);
                return text(method.invoke(target, values.toArray()));
            }
        }
        throw new NoSuchMethodException(name + " " + args);
    }

    /** The methods of an interface that wait for their result, as name(types). Those that do not are the same by another name. */
    static String methods(Class<?> type) {
        return Arrays.stream(sorted(type.getMethods()))
                .filter(m -> !m.getName().endsWith("Async") && !Modifier.isStatic(m.getModifiers()))
                .map(m -> m.getName() + "(" + Arrays.stream(m.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(", ")) + ")")
                .distinct()
                .collect(Collectors.joining(";"));
    }

    /** What went wrong in the end. */
    static Throwable cause(Throwable t) {
        while (t.getCause() != null && (t instanceof InvocationTargetException || t instanceof CompletionException)) {
            t = t.getCause();
        }
        return t;
    }

    private static Method[] sorted(Method[] methods) {
        return Stream.of(methods).sorted(Comparator.comparing(Method::toString)).toArray(Method[]::new);
    }

    /** null when the text is of another type. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object read(Class<?> type, String text) {
        try {
            if (type == String.class) {
                return text;
            } else if (type == long.class) {
                return Long.valueOf(text);
            } else if (type == int.class) {
                return Integer.valueOf(text);
            } else if (type == boolean.class) {
                return Boolean.valueOf(text);
            } else if (type.isEnum()) {
                return Enum.valueOf((Class<Enum>) type, text);
            } else if (type == Duration.class) {
                return Duration.parse(text);
            } else if (type == Instant.class) {
                return Instant.parse(text);
            } else if (type == Date.class && text.startsWith("@")) {
                return new Date(Long.parseLong(text.substring(1)));
            } else if (type == byte[].class) {
                return HexFormat.of().parseHex(text);
            }
            return null;
        } catch (IllegalArgumentException | java.time.DateTimeException e) {
            return null;
        }
    }

    private static String text(Object value) {
        if (value == null) {
            return "-";
        } else if (value instanceof byte[]) {
            return HexFormat.of().formatHex((byte[]) value);
        } else if (value instanceof RateLimiterConfig) {
            RateLimiterConfig c = (RateLimiterConfig) value;
            return c.getRateType() + " " + c.getRate() + " " + c.getRateInterval();
        }
        return value.toString();
    }
}
