package rain;

/** What proto/rain/grab_service.proto describes, as Dubbo wants it: the types
 * come from there, the methods must be declared by hand for Dubbo 3. */
public interface GrabService {
    GrabResponse grab(GrabRequest request);

    GrabBatchResponse grabBatch(GrabBatchRequest request);

    GrabResponse result(ResultRequest request);
}
