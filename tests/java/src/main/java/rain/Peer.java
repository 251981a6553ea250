package rain;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.serialize.protobuf.support.ProtobufUtils;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.rpc.RpcContext;

/**
 * A real Dubbo peer: "consumer URL" calls rain.GrabService and says what came
 * back, a line a call; "provider PORT" serves it. Either ends when its standard
 * input does, so that none outlives the test that started it.
 */
public final class Peer {
    private static final int ASYNC_CALLS = 20;

    private Peer() {
    }

    public static void main(String[] args) throws Exception {
        ProtobufUtils.marshaller(GrabRequest.getDefaultInstance());
        ProtobufUtils.marshaller(GrabResponse.getDefaultInstance());
        ProtobufUtils.marshaller(GrabBatchRequest.getDefaultInstance());
        ProtobufUtils.marshaller(GrabBatchResponse.getDefaultInstance());
        ProtobufUtils.marshaller(ResultRequest.getDefaultInstance());
        if (args[0].equals("provider")) {
            provide(Integer.parseInt(args[1]));
        } else {
            endWithInput();
            consume(args[1]);
            System.exit(0);
        }
    }

    private static void endWithInput() {
        Thread watch = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                }
            } catch (java.io.IOException e) {
                // The end as well.
            }
            Runtime.getRuntime().halt(1);
        });
        watch.setDaemon(true);
        watch.start();
    }

    private static ApplicationConfig application(String name) {
        ApplicationConfig application = new ApplicationConfig(name);

        application.setQosEnable(false);
        return application;
    }

    // ---- Consumer ----

    private static GrabRequest request(String activity, String user) {
        return GrabRequest.newBuilder().setActivityId(activity).setUserId(user)
            .setNotAfterMs(1764430000000L).setAttempt(3).build();
    }

    private static String text(GrabResponse r) {
        if (r == null) {
            return "null";
        }
        return r.getReply().getStatus() + " "
            + r.getReply().getRedPacket().getRedPacketId() + " "
            + r.getReply().getRedPacket().getAmountCents() + " "
            + r.getReply().getMessage() + " " + r.getRevision();
    }

    private static String error(Throwable e) {
        while (e instanceof java.util.concurrent.ExecutionException) {
            e = e.getCause();
        }
        return (e.getClass().getSimpleName() + " " + e.getMessage())
            .replace('\n', ' ');
    }

    private static void consume(String url) throws Exception {
        ReferenceConfig<GrabService> reference = new ReferenceConfig<>();
        GrabService service;

        reference.setApplication(application("java-consumer"));
        reference.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        reference.setInterface(GrabService.class);
        reference.setVersion("1.0.0");
        reference.setUrl(url);
        reference.setTimeout(5000);
        reference.setRetries(0);
        service = reference.get();
        for (String what : new String[] {"won", "null", "throw", "fail", "unicode"}) {
            try {
                System.out.println(what + ": " + text(service.grab(request(what, "u1"))));
            } catch (Exception e) {
                System.out.println(what + ": " + error(e));
            }
        }
        System.out.println("result: " + text(service.result(
            ResultRequest.newBuilder().setActivityId("a").setUserId("u1").build())));
        System.out.println("batch: " + service.grabBatch(
            GrabBatchRequest.newBuilder().addGrabs(request("won", "u1"))
                .addGrabs(request("won", "u2")).build()).getResponsesCount());
        concurrent(service);
        beat(service);
    }

    /** Answered in reverse, so that every reply must find its own call. */
    private static void concurrent(GrabService service) throws Exception {
        List<CompletableFuture<GrabResponse>> futures = new ArrayList<>();
        int right = 0;

        for (int i = 0; i < ASYNC_CALLS; i++) {
            GrabRequest q = request("reverse", "user-" + i);

            futures.add(RpcContext.getContext().asyncCall(() -> service.grab(q)));
        }
        for (int i = 0; i < ASYNC_CALLS; i++) {
            GrabResponse r = futures.get(i).get(10, TimeUnit.SECONDS);

            if (r.getReply().getMessage().equals("user-" + i)) {
                right++;
            }
        }
        System.out.println("concurrent: " + right);
    }

    /** Silent for some of the heartbeats that the URL asks for, then a call
     * over the same connection. */
    private static void beat(GrabService service) throws Exception {
        Thread.sleep(3500);
        System.out.println("after heartbeats: " + text(service.grab(request("won", "u1"))));
    }

    // ---- Provider ----

    private static final class Impl implements GrabService {
        @Override
        public GrabResponse grab(GrabRequest q) {
            switch (q.getActivityId()) {
                case "null":
                    return null;
                case "throw":
                    throw new IllegalStateException("sold out");
                case "slow":
                    try {
                        Thread.sleep(1000);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    break;
                default:
                    break;
            }
            return GrabResponse.newBuilder().setReply(GrabReply.newBuilder()
                .setStatus(Status.WON)
                .setRedPacket(RedPacket.newBuilder()
                    .setRedPacketId("365628617880842241")
                    .setAmountCents(1221).setAtMs(q.getNotAfterMs()))
                .setMessage(q.getUserId())).setRevision(9007199254740993L).build();
        }

        @Override
        public GrabBatchResponse grabBatch(GrabBatchRequest q) {
            GrabBatchResponse.Builder b = GrabBatchResponse.newBuilder();

            for (GrabRequest one : q.getGrabsList()) {
                b.addResponses(grab(one));
            }
            return b.build();
        }

        @Override
        public GrabResponse result(ResultRequest q) {
            return GrabResponse.getDefaultInstance(); // packs to nothing
        }
    }

    private static void provide(int port) throws Exception {
        ServiceConfig<GrabService> service = new ServiceConfig<>();
        ProtocolConfig protocol = new ProtocolConfig("dubbo", port);

        protocol.setSerialization("protobuf");
        protocol.setHost("127.0.0.1");
        service.setApplication(application("java-provider"));
        service.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        service.setProtocol(protocol);
        service.setInterface(GrabService.class);
        service.setVersion("1.0.0");
        service.setRef(new Impl());
        service.export();
        System.out.println("serving");
        System.out.flush();
        while (System.in.read() >= 0) {
        }
        System.exit(0); // a graceful stop: its hooks send READONLY
    }
}
