using System;
using System.Globalization;

namespace Warehouse
{
    /// <summary>Asks the warehouse for stock and reserves articles.</summary>
    public sealed class WarehouseClient
    {
        private readonly ITransport transport;
        private readonly ISettings settings;

        public WarehouseClient(ITransport transport, ISettings settings)
        {
            this.transport = transport;
            this.settings = settings;
        }

        /// <summary>How many pieces of an article there are.</summary>
        public int Stock(string article)
        {
            var answer = transport.Send("GET", "/stock/" + Uri.EscapeDataString(article), settings.Get("warehouse.key"));
            return int.Parse(answer, NumberStyles.None, CultureInfo.InvariantCulture);
        }

        /// <summary>Reserves pieces and returns the number of the reservation.</summary>
        public string Reserve(string article, int pieces)
        {
            var path = "/stock/" + Uri.EscapeDataString(article) + "/reserve/" + pieces.ToString(CultureInfo.InvariantCulture);
            return transport.Send("POST", path, settings.Get("warehouse.key"));
        }
    }
}
