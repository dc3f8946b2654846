namespace Warehouse
{
    public interface ITransport
    {
        /// <summary>Sends a request and returns the body of the answer; throws TimeoutException.</summary>
        string Send(string method, string path, string key);
    }

    public interface ISettings
    {
        string Get(string name);
    }
}
